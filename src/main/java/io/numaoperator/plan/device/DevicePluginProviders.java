package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Provision;
import java.util.Locale;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The device plugins that there are. */
public final class DevicePluginProviders {
  /** Where the plugins are, unless a policy says otherwise. */
  public static final Set<String> DEFAULT_NAMESPACES =
      Set.of(
          new DevicePluginPolicy.Hami().namespace,
          new DevicePluginPolicy.Nvidia().namespace,
          new DevicePluginPolicy.GpuOperator().namespace);

  private DevicePluginProviders() {}

  public static DevicePluginProvider of(DevicePluginPolicy.Provider provider) {
    return switch (provider) {
      case HAMi -> new HamiDevicePlugin();
      case None -> new Nothing(Provision.Objects.none(name(provider)));
      case NVIDIA, GPUOperator -> new NvidiaDevicePlugin(provider);
    };
  }

  /** The value of the provider label. */
  public static String name(DevicePluginPolicy.Provider provider) {
    return provider.name().toLowerCase(Locale.ROOT);
  }

  /** Where the policy says that its plugin is. */
  public static String namespace(NumaPolicy policy) {
    var plugin = policy.getSpec().devicePlugin;
    return plugin.provider == DevicePluginPolicy.Provider.HAMi
        ? HamiDevicePlugin.target(policy).namespace()
        : NvidiaSite.of(policy).config().namespace();
  }

  /** Whether an object of ours carries the provider's label. */
  public static boolean isMadeBy(DevicePluginPolicy.Provider provider, HasMetadata object) {
    var labels = object.getMetadata().getLabels();
    return labels != null && name(provider).equals(labels.get(Ownership.PROVIDER_LABEL));
  }

  private record Nothing(Provision provision) implements DevicePluginProvider {
    @Override
    public SortedSet<ConfigMapRef> reads(Input input) {
      return new TreeSet<>();
    }

    @Override
    public DevicePlan plan(Input input) {
      return DevicePlan.of(provision);
    }
  }
}
