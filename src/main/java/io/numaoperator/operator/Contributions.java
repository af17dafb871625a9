package io.numaoperator.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.numaoperator.api.Names;
import io.numaoperator.plan.Ownership;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Fields of ours inside objects of others, by server-side apply. Never by force: where their owner
 * sets a field, the API server refuses, and that is told. What nobody wants any more is given back.
 */
@ApplicationScoped
class Contributions {
  private final KubernetesClient client;

  @Inject
  Contributions(KubernetesClient client) {
    this.client = client;
  }

  /**
   * @param wanted names, and the fields to set
   * @param known the objects of others as they are
   */
  void apply(List<HasMetadata> wanted, List<HasMetadata> known) {
    wanted.forEach(
        one ->
            known.stream()
                .filter(object -> isSame(object, one))
                .filter(object -> !says(object, one))
                .forEach(object -> set(one)));
    known.stream()
        .filter(object -> !Ownership.isOurs(object))
        .filter(object -> ours(object).isPresent())
        .filter(object -> wanted.stream().noneMatch(one -> isSame(object, one)))
        .forEach(this::giveBack);
  }

  private void set(HasMetadata wanted) {
    client.resource(wanted).fieldManager(Names.OPERATOR_FIELD_MANAGER).serverSideApply();
  }

  private void giveBack(HasMetadata object) {
    var nothing = new GenericKubernetesResource();
    nothing.setApiVersion(object.getApiVersion());
    nothing.setKind(object.getKind());
    nothing.setMetadata(new ObjectMetaBuilder().withName(object.getMetadata().getName()).build());
    client
        .resource(object)
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(Names.OPERATOR_FIELD_MANAGER)
                .withForce(false)
                .build(),
            Json.of(nothing).toString());
  }

  private static boolean isSame(HasMetadata one, HasMetadata other) {
    return one.getKind().equals(other.getKind())
        && one.getApiVersion().equals(other.getApiVersion())
        && one.getMetadata().getName().equals(other.getMetadata().getName());
  }

  /** The values are there, and exactly these fields are ours. */
  private static boolean says(HasMetadata object, HasMetadata wanted) {
    return ManagedObjects.covers(spec(object), spec(wanted))
        && ours(object).map(ours -> owned(ours).equals(fields("", spec(wanted)))).orElse(false);
  }

  private static JsonNode spec(HasMetadata object) {
    return Json.of(object).path("spec");
  }

  /** What server-side apply has down as ours. */
  static Optional<JsonNode> ours(HasMetadata object) {
    return Optional.ofNullable(object.getMetadata().getManagedFields()).stream()
        .flatMap(List::stream)
        .filter(entry -> Names.OPERATOR_FIELD_MANAGER.equals(entry.getManager()))
        .filter(entry -> "Apply".equals(entry.getOperation()))
        .map(ManagedFieldsEntry::getFieldsV1)
        .map(fields -> Json.of(fields))
        .findFirst();
  }

  static Set<String> owned(JsonNode fieldsV1) {
    var paths = new TreeSet<String>();
    collect("", fieldsV1.path("f:spec"), paths);
    return paths;
  }

  private static void collect(String path, JsonNode node, Set<String> paths) {
    var children =
        node.properties().stream().filter(field -> field.getKey().startsWith("f:")).toList();
    if (children.isEmpty()) {
      paths.add(path);
    }
    children.forEach(f -> collect(path + "/" + f.getKey().substring(2), f.getValue(), paths));
  }

  /** Leaves of what is wanted; a list is one, since those that are used are atomic. */
  static Set<String> fields(String path, JsonNode node) {
    var paths = new TreeSet<String>();
    if (node instanceof ObjectNode object && !object.isEmpty()) {
      object.properties().forEach(f -> paths.addAll(fields(path + "/" + f.getKey(), f.getValue())));
    } else {
      paths.add(path);
    }
    return paths;
  }
}
