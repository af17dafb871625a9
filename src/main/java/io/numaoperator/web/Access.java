package io.numaoperator.web;

/** Asks whether the bearer of a token may see the page. Blocks. */
public interface Access {
  /** What came out. */
  enum Answer {
    /** He may. */
    Allowed,
    /** It is nobody's token. */
    Unauthenticated,
    /** It is somebody's, who may not. */
    Forbidden,
    /** The API server did not say: nobody is let in. */
    NoAnswer
  }

  Answer of(String token);
}
