/**
 * Kubernetes' MutatingAdmissionPolicy (admissionregistration.k8s.io/v1, from 1.36), which the
 * client library does not have yet: only the fields that the operator uses.
 */
package io.numaoperator.api.admission;
