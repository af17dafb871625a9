/**
 * The node's side of {@code kubectl numa probe}: a process that measures how fast the CPUs of each
 * NUMA node read the memory of each, prints it as JSON, and ends. It needs no permission: memory
 * comes to lie on the NUMA node of the thread that first writes to it (the kernel's default
 * policy), so that threads pinned by sched_setaffinity(2) do what mbind(2) would, which the seccomp
 * profile of containers denies. Where it really came to lie is read from /proc/self/numa_maps.
 */
package io.numaoperator.probe;
