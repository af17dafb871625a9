/**
 * KAI Scheduler's kinds (v0.16 and newer) that the operator reads or writes: only the fields that
 * it uses.
 */
package io.numaoperator.api.kai;
