/**
 * What the operator configures of a GPU device plugin that somebody else installed. Unlike updater
 * and scheduler this is each policy's own: pools with different plugins live side by side.
 */
package io.numaoperator.plan.device;
