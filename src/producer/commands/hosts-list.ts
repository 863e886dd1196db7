import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { allHostsOf } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import { selectHostModels } from "../../shared/store/hosts/host-models.ts";
import type { HostModel } from "../../shared/store/hosts/host-models.ts";
import { limitsText, selectHostOverview, spentText } from "../../shared/views/hosts.ts";
import type { HostOverview } from "../../shared/views/hosts.ts";
import { NAME, tableOf } from "../../shared/views/section.ts";
import type { Table } from "../../shared/views/section.ts";
import { printList } from "../print/sections.ts";

type ListedHost = {
  readonly url: string;
  /** The configuration's entry; missing for a host that only the database knows. */
  readonly place: HostPlace | undefined;
  /** Missing for a host that was never called. */
  readonly known: HostOverview | undefined;
  readonly models: readonly HostModel[];
};

/** Lists configured and called hosts with state, models, slots, limits and costs. It sends them no request. */
export const hostsList = databaseCommand(async (context, database) => {
  const places = allHostsOf(context.config);
  const known = await selectHostOverview(database, "models");
  const models = await selectHostModels(database, null);
  const urls = new Set([...places.map(({ host }) => host), ...known.map(({ host }) => host)]);
  const hosts = [...urls].map((url) => ({
    url,
    place: places.find(({ host }) => host === url),
    known: known.find(({ host }) => host === url),
    models: models.filter(({ host }) => host === url),
  }));
  if (context.terminal.isJson) await context.terminal.printJson(hosts.map(hostJson));
  else await printTable(context, hosts);
});

const stateOf = ({ known }: ListedHost): string => {
  if (known === undefined) return "not called yet";
  if (known.state === "open") return "down";
  return known.nextCallAt === null ? "up" : "paced";
};

const namesOf = ({ place, models }: ListedHost): readonly string[] => [
  ...new Set([...(place?.entry?.models?.keys() ?? []), ...models.map(({ model }) => model)]),
];

const hostJson = (host: ListedHost): object => {
  const { url, place, known, models } = host;
  const entry = place?.entry;
  const { requestsPerMinute, tokensPerMinute } = limitsOf(host);
  return {
    name: entry?.name ?? known?.name ?? null,
    url,
    kind: kindOf(host),
    is_configured: place !== undefined,
    state: stateOf(host),
    error_code: known?.state === "open" ? known.errorCode : null,
    error_message: known?.state === "open" ? known.errorMessage : null,
    next_try_at: known?.nextTryAt ?? null,
    next_call_at: known?.nextCallAt ?? null,
    priority: entry?.priority ?? known?.priority ?? 0,
    takes_overflow: entry?.takesOverflow ?? null,
    api: entry?.api ?? "chat",
    models: namesOf(host),
    found: models.map(({ model, digest, serverVersion, windowTokens, features }) => ({
      model,
      digest,
      server_version: serverVersion,
      window_tokens: windowTokens,
      features,
    })),
    slots: {
      capacity: known?.capacity ?? place?.parallel ?? null,
      reason: known?.capacityReason ?? null,
      in_use: known?.inUse ?? 0,
      waiting: known?.waiting ?? 0,
    },
    limits: { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute },
    prices: { in: entry?.priceIn ?? null, out: entry?.priceOut ?? null },
    spent: { night: known?.night ?? NOTHING, total: known?.total ?? NOTHING },
  };
};

const NOTHING = { calls: 0, tokens: 0, money: 0 };

async function printTable(
  { terminal }: CommandContext,
  hosts: readonly ListedHost[],
): Promise<void> {
  if (hosts.length === 0) {
    terminal.say("No model host is configured, and none was called.");
    return;
  }
  await printList(terminal, hostTable(hosts));
  for (const { place, known, url } of hosts) {
    if (known?.state !== "open") continue;
    terminal.say(
      `${place?.entry?.name ?? url} is down: ${known.errorMessage ?? "no reason known"}`,
    );
  }
}

const hostTable = (hosts: readonly ListedHost[]): Table =>
  tableOf(hosts, [
    [
      "host",
      ({ url, place, known }) => place?.entry?.name ?? known?.name ?? url,
      { ...NAME, cut: "middle", least: 8 },
    ],
    ["kind", kindOf, { leftOut: 4 }],
    ["url", ({ url }) => url, { leftOut: 2 }],
    ["state", stateOf],
    ["models", (host) => namesOf(host).join(", ") || "those it lists", { least: 8 }],
    ["slots", slotsOf],
    ["limits", (host) => limitsText(limitsOf(host)), { leftOut: 3 }],
    [
      "tonight",
      ({ known }) => (known === undefined ? null : spentText(known.night)),
      { leftOut: 1 },
    ],
  ]);

const kindOf = ({ place, known }: ListedHost): string | null =>
  place?.entry?.kind ?? place?.provider ?? known?.provider ?? null;

const limitsOf = ({ place, known }: ListedHost) => ({
  requestsPerMinute: place?.entry?.requestsPerMinute ?? known?.requestsPerMinute ?? null,
  tokensPerMinute: place?.entry?.tokensPerMinute ?? known?.tokensPerMinute ?? null,
});

function slotsOf({ place, known }: ListedHost): string {
  const capacity = known?.capacity ?? place?.parallel ?? null;
  const waiting = known?.waiting ?? 0;
  const used = `${known?.inUse ?? 0} of ${capacity ?? "?"}`;
  return waiting === 0 ? used : `${used}, ${waiting} wait`;
}
