import { rootCertificates } from "node:tls";
import { FROM_HOSTS } from "../../shared/config/providers.ts";
import { normalBaseUrl } from "../../shared/config/base-url.ts";
import type { HostSettings } from "../../shared/config/hosts-schema.ts";
import { readCertificates, readSecret } from "../../shared/config/read-secret.ts";
import type { Config } from "../../shared/config/schema.ts";
import { HostFailure } from "../../shared/failure.ts";

/** What a call of a host takes beside its address. */
export type Credentials = {
  /** Sent with each call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates that its own is looked for among, in PEM; the system's where there are none. */
  readonly ca: readonly string[];
  /** `http://host:port` */
  readonly proxy: string | null;
  /** Texts that no message may show. */
  readonly secrets: readonly string[];
};

/**
 * Reads them anew for each call, so that a key can be changed while a worker runs.
 * @throws HostFailure MODEL_UNREACHABLE for a key or a certificate that is not there
 */
export type HostAccess = () => Promise<Credentials>;

/** @param host base URL */
export type AccessOf = (host: string) => HostAccess;

const OPEN: Credentials = { headers: {}, ca: [], proxy: null, secrets: [] };

/** Of a host that asks for nothing. */
export const OPEN_ACCESS: HostAccess = async () => OPEN;

/** How each host of the configuration is come to; nothing is asked of one that `hosts` does not list. */
export function accessByHost(
  { hosts, roots }: Pick<Config, "hosts" | "roots">,
  env: Readonly<Record<string, string | undefined>>,
): AccessOf {
  const listed = new Map(
    hosts.map((settings) => {
      const url = normalBaseUrl(settings.url);
      return [url, accessOf({ ...settings, url }, roots.configRoot, env)] as const;
    }),
  );
  return (host) => listed.get(host) ?? OPEN_ACCESS;
}

const accessOf =
  (
    settings: HostSettings,
    configRoot: string,
    env: Readonly<Record<string, string | undefined>>,
  ): HostAccess =>
  async () => {
    const key = await readKey(settings, configRoot, env);
    const { headers = {}, ca_file: caFile, proxy = null } = settings;
    return {
      headers: { ...headers, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
      ca:
        caFile === undefined
          ? []
          : [...rootCertificates, await readCa(settings, caFile, configRoot)],
      proxy,
      secrets: [...Object.values(headers), ...(key === null ? [] : [key])].filter(isSecret),
    };
  };

/** A shorter text stands in many that are no secrets. */
const isSecret = (text: string): boolean => text.trim().length >= 4;

const MOST_KEY_BYTES = 4_096;

async function readKey(
  settings: HostSettings,
  configRoot: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const { key_env: variable, key_file: file } = settings;
  const place = { variable, file, folder: configRoot, maxBytes: MOST_KEY_BYTES };
  const key = await readSecret(place, env);
  if (key === null || isKey(key)) return key;
  throw unfit(
    settings,
    variable === undefined
      ? `${file ?? ""} (key_file) holds no key`
      : `this process has no key in the variable ${variable} (key_env)`,
  );
}

/** What a header takes: anything else is no key, and an error of the request would show it. */
const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

async function readCa(settings: HostSettings, file: string, configRoot: string): Promise<string> {
  const certificates = await readCertificates(file, configRoot);
  if (certificates !== null) return certificates;
  throw unfit(settings, `${file} (ca_file) holds no certificate in PEM`);
}

const unfit = ({ name, url }: HostSettings, why: string): HostFailure =>
  new HostFailure("MODEL_UNREACHABLE", `${FROM_HOSTS}: ${name} is not asked: ${why}.`, {
    host: url,
  });

/** A text without the secrets in it. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
