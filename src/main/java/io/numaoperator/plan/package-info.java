/**
 * From policies and what was observed of the cluster to the objects that the operator applies: pure
 * functions of values, stable under the order of their input, without clock, client or files.
 *
 * <p>Each part of the stack ({@link io.numaoperator.plan.Part}) has a folder: an interface that a
 * provider implements, one class a provider, and one registry whose switch over the policy's enum
 * chooses it. A new provider is a class in that folder and a line in that switch.
 *
 * <p>Every object says in its labels which part and which provider it is of. That is how a switch
 * of providers is cleaned up: what carries the part's label and is not in the new {@link
 * io.numaoperator.plan.Provision.Objects} was the former provider's. A policy's own labels and
 * annotations are never copied: a GitOps tool that finds its tracking label on our objects claims
 * and prunes them.
 */
package io.numaoperator.plan;
