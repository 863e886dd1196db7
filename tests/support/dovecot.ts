import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, isListening } from "../services/free-port.js";
import { waitUntil } from "../services/wait-until.js";
import { createAuthority } from "./certificates.ts";

const DOVECOT = "/usr/sbin/dovecot";
/** Of nobody: Dovecot delivers no mail to root. */
const MAIL_UID = 65_534;

/** Debian's Dovecot, which root alone can start; .ci/run installs it. */
export const hasDovecot = existsSync(DOVECOT) && process.getuid?.() === 0;

export type MailServer = {
  readonly port: number;
  /** Of the authority that vouches for it, a file in PEM. */
  readonly caFile: string;
  /** Maildir of the one user, whatever its name. */
  readonly maildir: string;
  stop(): Promise<void>;
};

/** Serves one mailbox by IMAP with STARTTLS, to whoever has the password. */
export async function startDovecot(password: string): Promise<MailServer> {
  const base = await mkdtemp(join(tmpdir(), "nd-imap-"));
  await chmod(base, 0o755);
  const maildir = join(base, "mail");
  for (const folder of ["", "cur", "new", "tmp"]) {
    await mkdir(join(maildir, folder), { recursive: true });
    await chown(join(maildir, folder), MAIL_UID, MAIL_UID);
  }
  const authority = createAuthority();
  const { cert, key } = authority.issue(["127.0.0.1"]);
  const caFile = join(base, "ca.pem");
  for (const [name, text] of [
    ...([
      ["ca.pem", authority.cert],
      ["cert.pem", cert],
      ["key.pem", key],
    ] as const),
  ])
    await writeFile(join(base, name), text);
  const port = await findFreePort();
  await writeFile(
    join(base, "dovecot.conf"),
    [
      ...[`base_dir = ${base}/run`, `state_dir = ${base}/state`, `log_path = ${base}/log`],
      ...["protocols = imap", "listen = 127.0.0.1", "ssl = required"],
      ...[`ssl_cert = <${base}/cert.pem`, `ssl_key = <${base}/key.pem`],
      ...["default_internal_user = nobody", "default_internal_group = nogroup"],
      ...[
        "default_login_user = nobody",
        `mail_location = maildir:${maildir}`,
        "auth_failure_delay = 0",
      ],
      `passdb {\n driver = static\n args = password=${password}\n}`,
      `userdb {\n driver = static\n args = uid=${MAIL_UID} gid=${MAIL_UID} home=${base}/home\n}`,
      `service imap-login {\n chroot =\n inet_listener imap {\n  port = ${port}\n }\n inet_listener imaps {\n  port = 0\n }\n}`,
      "service anvil {\n chroot =\n}",
    ].join("\n"),
  );
  const child = spawn(DOVECOT, ["-F", "-c", join(base, "dovecot.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const exited = once(child, "exit");
  const isUp = await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(said);
    return isListening(port);
  }, 10_000);
  if (!isUp) throw new Error("dovecot did not begin to listen");
  return {
    ...{ port, caFile, maildir },
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(base, { recursive: true, force: true });
    },
  };
}
