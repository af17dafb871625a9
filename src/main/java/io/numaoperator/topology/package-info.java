/**
 * NUMA as values and arithmetic: cpusets, zones, machines, memory quantities, and the rule that
 * says whether what a container holds lies on one zone. Pure: no clock, client or file access.
 */
package io.numaoperator.topology;
