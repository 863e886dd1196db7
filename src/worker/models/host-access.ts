import { rootCertificates } from "node:tls";
import { FROM_HOSTS } from "../../shared/config/providers.ts";
import { normalBaseUrl } from "../../shared/config/base-url.ts";
import type { HostSettings } from "../../shared/config/hosts-schema.ts";
import { readCertificates, readSecret } from "../../shared/config/read-secret.ts";
import type { Config } from "../../shared/config/schema.ts";
import { HostFailure } from "../../shared/failure.ts";

/** What a call of a host needs besides its address. */
export type Credentials = {
  /** Headers of each call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Trusted certificates in PEM; empty: those of the system. */
  readonly ca: readonly string[];
  /** `http://host:port` */
  readonly proxy: string | null;
  /** Texts that messages must not show. */
  readonly secrets: readonly string[];
};

/**
 * Reads the credentials again for each call, so that a key can be changed while a worker runs.
 * @throws HostFailure MODEL_UNREACHABLE for a missing key or certificate
 */
export type HostAccess = () => Promise<Credentials>;

/** @param host base URL */
export type AccessOf = (host: string) => HostAccess;

const OPEN: Credentials = { headers: {}, ca: [], proxy: null, secrets: [] };

/** The access to a host that requires no credentials. */
export const OPEN_ACCESS: HostAccess = async () => OPEN;

/** The access to each host of the configuration; a host that `hosts` does not list has no credentials. */
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
      secrets: secretsOf(Object.values(headers), key),
    };
  };

/** A shorter value or word of a header would also occur in many texts that are no secrets. */
const LEAST_SECRET_CHARS = 8;

/** Of a header `Bearer KEY`, a host may repeat the key alone. The longest comes first, because it may hold others. */
function secretsOf(headers: readonly string[], key: string | null): readonly string[] {
  const texts = headers.flatMap((value) => [value.trim(), ...value.split(/\s+/)]);
  const secrets = texts.filter((text) => text.length >= LEAST_SECRET_CHARS);
  return [...new Set(key === null ? secrets : [...secrets, key])].sort(
    (one, other) => other.length - one.length,
  );
}

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
  throw credentialsFailure(
    settings,
    variable === undefined
      ? `${file ?? ""} (key_file) holds no key`
      : `this process has no key in the variable ${variable} (key_env)`,
  );
}

/** Only characters that a header accepts: the error of the request would show any other key. */
const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

async function readCa(settings: HostSettings, file: string, configRoot: string): Promise<string> {
  const certificates = await readCertificates(file, configRoot);
  if (certificates !== null) return certificates;
  throw credentialsFailure(settings, `${file} (ca_file) holds no certificate in PEM`);
}

const credentialsFailure = ({ name, url }: HostSettings, why: string): HostFailure =>
  new HostFailure("MODEL_UNREACHABLE", `${FROM_HOSTS}: ${name} is not asked: ${why}.`, {
    host: url,
  });

/** Replaces the secrets in a text. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
