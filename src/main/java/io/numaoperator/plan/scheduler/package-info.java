/** The scheduler that reads NodeResourceTopology objects. */
package io.numaoperator.plan.scheduler;
