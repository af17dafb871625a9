/**
 * Whether the roles of config/rbac, and those that the operator makes, are exactly what is used:
 * the audit logs of all labs against the rules.
 */
package io.numaoperator.rbac;
