/**
 * The rollout as a pure state machine: from the nodes as they are now, the budget and the time, to
 * the next actions. Nothing is remembered between two calls: what is under way is read from the
 * objects (cordon annotation, grant, attempt), so that any replica can go on where another stopped.
 */
package io.numaoperator.rollout;
