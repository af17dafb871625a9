package io.numaoperator.scheduler;

import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.PodRequest;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Map.Entry;

/**
 * What the model has said of late. kube-scheduler asks about hundreds of nodes for each pod; the
 * pods of a job want the same, and a node on which nothing has changed has the same free. Safe for
 * use by several threads.
 */
final class FitMemo implements FitModel {
  private final FitModel model;
  private final Map<Question, Fit> answers;

  /** What an answer depends on. */
  private record Question(NodeFree free, PodRequest request) {}

  /**
   * @param size how many answers are kept: those that were last asked for
   */
  FitMemo(FitModel model, int size) {
    this.model = model;
    answers =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Entry<Question, Fit> eldest) {
            return size() > size;
          }
        };
  }

  @Override
  public Fit of(NodeFree free, PodRequest request) {
    var question = new Question(free, request);
    synchronized (answers) {
      var known = answers.get(question);
      if (known != null) {
        return known;
      }
    }
    var fit = model.of(free, request);
    synchronized (answers) {
      answers.put(question, fit);
    }
    return fit;
  }
}
