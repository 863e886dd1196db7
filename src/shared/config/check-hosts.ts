import { FROM_HOSTS, HOST_KINDS } from "./providers.ts";
import { normalBaseUrl, parseBaseUrl, pathRuleOf } from "./base-url.ts";
import { listedHosts, modelNameAt } from "./hosts.ts";
import type { HostSettings } from "./hosts-schema.ts";
import { quote } from "./problem.ts";
import type { Conflict } from "./problem.ts";
import type { ConfigValues } from "./schema.ts";

/** Checks `hosts`. It reads no key and calls no host. */
export function checkHosts(values: ConfigValues): Conflict[] {
  const { hosts } = values;
  const asking = (["model", "embed"] as const).filter((key) => values[key].provider === FROM_HOSTS);
  if (asking.length > 0 && hosts.length === 0) {
    const text = `is "${FROM_HOSTS}" and hosts is empty; expected at least one entry in hosts`;
    return asking.map((key) => ({ path: [key, "provider"], text }));
  }
  const entries = hosts.flatMap((host, position) =>
    checkHost(host, hosts.slice(0, position)).map(({ key, text }) => ({
      path: ["hosts", position, ...key],
      text,
    })),
  );
  return entries.length > 0
    ? entries
    : [
        ...checkUse(values),
        ...checkConfirm(values),
        ...checkServed(values),
        ...checkEmbedderServed(values),
      ];
}

type Fault = { readonly key: readonly (string | number)[]; readonly text: string };

function checkHost(host: HostSettings, before: readonly HostSettings[]): Fault[] {
  const rule = pathRuleOf(HOST_KINDS[host.kind]);
  const url = parseBaseUrl(host.url, rule);
  const form = rule === "path" ? "with what stands before /v1, and without it" : "without a path";
  return [
    ...findRepeats(host, before),
    ...(url.kind === "valid"
      ? []
      : [
          urlFault(
            ["url"],
            host.url,
            `${url.reason}; expected http://host:port or https://host:port, ${form}`,
          ),
        ]),
    ...checkKey(host),
    ...checkHeaders(host),
    ...checkProxy(host),
    ...checkApi(host),
  ];
}

function findRepeats(host: HostSettings, before: readonly HostSettings[]): Fault[] {
  const text = "is that of an entry before; expected one of its own";
  const urls = before.map(({ url }) => normalBaseUrl(url));
  return [
    ...(before.some(({ name }) => name === host.name)
      ? [{ key: ["name"], text: `"${host.name}" ${text}` }]
      : []),
    ...(urls.includes(normalBaseUrl(host.url)) ? [{ key: ["url"], text }] : []),
  ];
}

/** A user name without a password may be a token. */
const urlFault = (key: readonly string[], url: string, reason: string): Fault => ({
  key,
  text: `is ${url.includes("@") ? "a text that is not shown" : quote(url)}, and ${reason}`,
});

const checkKey = ({ key_env, key_file }: HostSettings): Fault[] =>
  key_env === undefined || key_file === undefined
    ? []
    : [{ key: ["key_file"], text: "is set, and so is key_env; keep one" }];

function checkHeaders({ headers = {}, key_env, key_file }: HostSettings): Fault[] {
  const hasKey = key_env !== undefined || key_file !== undefined;
  return Object.entries(headers).flatMap(([name, value]) => {
    const key = ["headers", name];
    if (!/^[\x20-\x7e]{1,4000}$/.test(value)) {
      return [{ key, text: "is not shown; expected 1 to 4000 characters of ASCII" }];
    }
    if (OURS.has(name.toLowerCase())) {
      return [{ key, text: "is a header that Nightdesk sets itself; leave it out" }];
    }
    if (name.toLowerCase() !== "authorization" || !hasKey) return [];
    return [{ key, text: "is set, and so is a key, which is sent in it; keep one" }];
  });
}

const OURS = new Set(["host", "content-type", "content-length", "connection", "transfer-encoding"]);

function checkProxy({ proxy }: HostSettings): Fault[] {
  if (proxy === undefined) return [];
  const url = parseBaseUrl(proxy);
  const form = "expected a proxy of http://host:port";
  if (url.kind === "invalid") return [urlFault(["proxy"], proxy, `${url.reason}; ${form}`)];
  if (url.url.startsWith("http:")) return [];
  return [{ key: ["proxy"], text: `is ${quote(proxy)}; ${form}` }];
}

function checkApi({ api, kind }: HostSettings): Fault[] {
  if (api !== "responses" || HOST_KINDS[kind] === "openai-compatible") return [];
  return [
    { key: ["api"], text: `is "responses", which kind "${kind}" is not asked by; leave it out` },
  ];
}

/** index.ocr.confirm must name an entry, and one of its models if the entry lists them. */
function checkConfirm(values: ConfigValues): Conflict[] {
  const { confirm } = values.index.ocr ?? {};
  if (confirm == null) return [];
  const path = ["index", "ocr", "confirm"];
  const place = listedHosts(values).find(({ entry }) => entry.name === confirm.host);
  if (place === undefined) {
    const names = values.hosts.map(({ name }) => name).join(", ");
    const text = `is ${quote(confirm.host)}; expected the name of an entry of hosts${names === "" ? ", which is empty" : `: ${names}`}`;
    return [{ path: [...path, "host"], text }];
  }
  if (modelNameAt(place, confirm.model) !== null) return [];
  const models = [...(place.entry.models?.keys() ?? [])].join(", ");
  const text = `is ${quote(confirm.model)}; expected one of the models of entry ${confirm.host} of hosts: ${models}`;
  return [{ path: [...path, "model"], text }];
}

/** An unused list of hosts would look like one that is used. */
function checkUse({ hosts, model, embed, index }: ConfigValues): Conflict[] {
  if (hosts.length === 0 || [model.provider, embed.provider].includes(FROM_HOSTS)) return [];
  if (embedsAtOne(embed, hosts) || index.ocr?.confirm != null) return [];
  const text =
    `is set, and model.provider is "${model.provider}"; expected model.provider: ${FROM_HOSTS}, embed.provider: ` +
    `${FROM_HOSTS}, an embed.base_url that it lists, index.ocr.confirm, or an empty list`;
  return [{ path: ["hosts"], text }];
}

/** The embedder's own host may be listed for its key. */
const embedsAtOne = (
  { provider, base_url: url }: ConfigValues["embed"],
  hosts: readonly HostSettings[],
): boolean =>
  (provider === "ollama" || provider === "openai-compatible") &&
  url !== null &&
  hosts.some((host) => normalBaseUrl(host.url) === normalBaseUrl(url));

/** If every host lists its models, each configured model must be in a list. */
function checkServed(values: ConfigValues): Conflict[] {
  const { model } = values;
  if (model.provider !== FROM_HOSTS) return [];
  const places = listedHosts(values);
  return (["name", "fast", "big"] as const).flatMap((key) => {
    const name = model[key];
    if (name === null) return [];
    const resolved = Object.hasOwn(model.aliases, name) ? (model.aliases[name] ?? name) : name;
    if (places.some((place) => modelNameAt(place, resolved) !== null)) return [];
    const text = `is ${quote(name)}, and no entry of hosts has it among its models`;
    return [{ path: ["model", key], text }];
  });
}

function checkEmbedderServed(values: ConfigValues): Conflict[] {
  const { provider, model_id: name } = values.embed;
  if (provider !== FROM_HOSTS) return [];
  if (listedHosts(values).some((place) => modelNameAt(place, name) !== null)) return [];
  const text = `is ${quote(name)}, and no entry of hosts has it among its models`;
  return [{ path: ["embed", "model_id"], text }];
}
