/**
 * What publishes NodeResourceTopology objects. The CRD itself is applied elsewhere, before any of
 * this (no updater, and no scheduler's cache, works without it).
 */
package io.numaoperator.plan.updater;
