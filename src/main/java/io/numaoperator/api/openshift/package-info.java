/**
 * OpenShift's kinds that the operator reads or writes (machineconfiguration.openshift.io/v1): only
 * the fields that it uses.
 */
package io.numaoperator.api.openshift;
