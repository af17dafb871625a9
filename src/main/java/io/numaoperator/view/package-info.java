/**
 * What people look at, as values: a node's line, a node's map. Terminal and web page draw these;
 * both draw the same. Pure: no clock, client or file access.
 */
package io.numaoperator.view;
