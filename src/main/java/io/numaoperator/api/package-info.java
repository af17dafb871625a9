/**
 * The API group {@code numaoperator.io}: what people apply ({@link io.numaoperator.api.NumaPolicy})
 * and what the operator and its agents say about each node ({@link
 * io.numaoperator.api.NumaNodeState}). The CRDs in {@code crds/} are generated from these classes;
 * the descriptions on the fields are the users' manual ({@code kubectl explain numapolicy.spec}).
 *
 * <p>Types are plain classes with public fields, like the Go types of Kubernetes' own API: they are
 * wire data and have no behaviour. A field that is null is absent on the wire. Field initialisers
 * repeat the CRD's defaults, so that a policy read from a file without an API server means the
 * same.
 */
package io.numaoperator.api;
