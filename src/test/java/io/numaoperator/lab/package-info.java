/**
 * Tests on a real API server and real kubelets (tag {@code lab}; {@code make test} runs them after
 * the others). The lab is in {@code src/lab}; its README says what is real there and what each fake
 * stands for.
 */
package io.numaoperator.lab;
