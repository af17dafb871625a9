package io.numaoperator.api;

/** How whatever a cluster may have thousands of is listed. */
public final class ListPage {
  /**
   * Objects in one answer of the API server (limit and continue). As one answer, the Nodes of a
   * cluster of 5,000, with their lists of images, took more memory than an operator has.
   */
  public static final long SIZE = 500;

  private ListPage() {}
}
