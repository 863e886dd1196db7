type Environment = Readonly<Record<string, string | undefined>>;

const PLAIN = new Set([
  ...["PATH", "HOME", "LANG", "TZ", "USER", "TMPDIR", "XDG_STATE_HOME"],
  ...["NIGHTDESK_CONFIG", "NIGHTDESK_WORKROOT", "NIGHTDESK_LOG_LEVEL", "NIGHTDESK_OLLAMA_BASE_URL"],
]);
const LOCALE = /^LC_[A-Z]+$/;
/** What Node and the configuration read beside that. */
const OUR_OWN = new Set([
  ...["OLLAMA_BASE_URL", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
]);

/**
 * The environment of a program that somebody else wrote: where and as whom it runs, and no variable that may hold a
 * password or a key.
 */
export const foreignEnvironment = (env: Environment): Environment =>
  pick(env, (name) => PLAIN.has(name) || LOCALE.test(name));

/** The environment of a command of ours. What it reaches the database with comes by another way: secrets-by-channel.ts. */
export const ownEnvironment = (env: Environment): Environment =>
  pick(env, (name) => PLAIN.has(name) || LOCALE.test(name) || OUR_OWN.has(name));

const pick = (env: Environment, isPassed: (name: string) => boolean): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isPassed(name)));
