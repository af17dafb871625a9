package io.numaoperator.api;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;

/** The truth about one node: named after it, owned by it. */
@Group(Names.GROUP)
@Version(Names.VERSION)
@Kind("NumaNodeState")
@Plural("numanodestates")
@Singular("numanodestate")
@ShortNames({"numanode", "numanodes"})
@AdditionalPrinterColumn(name = "Policy", jsonPath = ".spec.policy")
@AdditionalPrinterColumn(
    name = "Ready",
    jsonPath = ".status.conditions[?(@.type==\"AlignmentReady\")].status")
@AdditionalPrinterColumn(
    name = "Reason",
    jsonPath = ".status.conditions[?(@.type==\"AlignmentReady\")].reason")
@AdditionalPrinterColumn(name = "Step", jsonPath = ".status.attempt.step")
@AdditionalPrinterColumn(
    name = "Zones",
    jsonPath = ".status.inventory.zoneCount",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "GPUs",
    jsonPath = ".status.inventory.gpuCount",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Aligned",
    jsonPath = ".status.containers.aligned",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Cross",
    jsonPath = ".status.containers.crossNuma",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.conditions[?(@.type==\"AlignmentReady\")].message",
    priority = 1)
public class NumaNodeState extends CustomResource<NumaNodeStateSpec, NumaNodeStateStatus> {}
