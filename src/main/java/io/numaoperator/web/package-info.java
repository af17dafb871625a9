/**
 * The page that people look at: from what the cluster's objects say, through values ({@code
 * io.numaoperator.view}), to one HTML document, and the two ports that serve it. Reads only.
 */
package io.numaoperator.web;
