package io.numaoperator.plan.device;

import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;

/** The device plugins that there are. */
public final class DevicePluginProviders {
  private DevicePluginProviders() {}

  public static DevicePluginProvider of(DevicePluginPolicy.Provider provider) {
    return switch (provider) {
      case HAMi -> new HamiDevicePlugin();
      case None -> new Nothing(Provision.Objects.none(name(provider)));
      case NVIDIA, GPUOperator ->
          new Nothing(Provision.NotYet.of(Part.DEVICE_PLUGIN, provider.name()));
    };
  }

  /** The value of the provider label. */
  static String name(DevicePluginPolicy.Provider provider) {
    return provider.name().toLowerCase(Locale.ROOT);
  }

  private record Nothing(Provision provision) implements DevicePluginProvider {
    @Override
    public SortedSet<ConfigMapRef> reads(List<NumaPolicy> policies) {
      return new TreeSet<>();
    }

    @Override
    public Provision plan(Input input) {
      return provision;
    }
  }
}
