/**
 * Certificates between kube-scheduler and the extender: an own authority, one certificate for each
 * side. Pure but for the JDK's random numbers.
 */
package io.numaoperator.scheduler.tls;
