/** What {@code kubectl numa} prints: from values to text. Pure: no clock, client or file access. */
package io.numaoperator.cli.text;
