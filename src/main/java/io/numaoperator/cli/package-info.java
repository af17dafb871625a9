/**
 * {@code kubectl numa}: a plain main without Quarkus, so that it starts at once. Commands fetch;
 * what they print is drawn in {@code cli.text}.
 */
package io.numaoperator.cli;
