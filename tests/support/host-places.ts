import type { HostEntry, HostPlace } from "../../src/shared/config/hosts.ts";

/** A host of the list, with two slots, that takes overflow and whatever model is asked for. */
export const listedPlace = (
  host: string,
  priority: number,
  more: Partial<HostEntry> = {},
): HostPlace => ({
  ...{ host, provider: "openai-compatible", parallel: 2 },
  entry: {
    ...{ name: host, kind: "openai", priority, takesOverflow: true, api: "chat", models: null },
    ...{ requestsPerMinute: null, tokensPerMinute: null, priceIn: null, priceOut: null },
    ...more,
  },
});
