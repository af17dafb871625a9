/**
 * Judges what was seen: pure chains of small checks, the first violation wins and gives the reason
 * and what to do. A condition is True only when every check of its chain passed on evidence from
 * the node; what cannot be known is Unknown.
 */
package io.numaoperator.readiness;
