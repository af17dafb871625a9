/** The NVIDIA GPU Operator's kind that the operator reads or writes: only the fields it uses. */
package io.numaoperator.api.nvidia;
