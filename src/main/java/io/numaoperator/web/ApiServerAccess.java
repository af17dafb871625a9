package io.numaoperator.web;

import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.Names;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * By the API server: whose token it is (TokenReview), and whether he may list each kind that the
 * page shows (SubjectAccessReview). So the page tells nobody what kubectl would not.
 */
public final class ApiServerAccess implements Access {
  private static final Logger LOG = Logger.getLogger(ApiServerAccess.class);

  /** A kind that the page shows. */
  private record Shown(String group, String resource) {}

  private static final List<Shown> SHOWN =
      List.of(
          new Shown(Names.GROUP, "numanodestates"),
          new Shown(Names.GROUP, "numapolicies"),
          new Shown(NodeResourceTopology.GROUP, "noderesourcetopologies"));

  private final KubernetesClient client;

  public ApiServerAccess(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public Answer of(String token) {
    try {
      var review =
          client
              .resource(new TokenReviewBuilder().withNewSpec().withToken(token).endSpec().build())
              .create();
      var status = review.getStatus();
      if (status == null || !Boolean.TRUE.equals(status.getAuthenticated())) {
        return Answer.Unauthenticated;
      }
      var user = status.getUser();
      return SHOWN.stream().allMatch(shown -> mayList(user, shown))
          ? Answer.Allowed
          : Answer.Forbidden;
    } catch (KubernetesClientException failed) {
      // without its cause: that could have the request in it, and so the token
      LOG.warnf("the API server could not be asked who asks for the page: %d", failed.getCode());
      return Answer.NoAnswer;
    }
  }

  private boolean mayList(UserInfo user, Shown shown) {
    var review =
        client
            .resource(
                new SubjectAccessReviewBuilder()
                    .withNewSpec()
                    .withUser(user.getUsername())
                    .withUid(user.getUid())
                    .withGroups(user.getGroups())
                    .withExtra(user.getExtra())
                    .withNewResourceAttributes()
                    .withVerb("list")
                    .withGroup(shown.group())
                    .withResource(shown.resource())
                    .endResourceAttributes()
                    .endSpec()
                    .build())
            .create();
    return review.getStatus() != null && Boolean.TRUE.equals(review.getStatus().getAllowed());
  }
}
