import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runScript } from "./phase.js";
import { root } from "./root.js";

const secrets = process.env.NIGHTDESK_SECRETS ?? join(root, "secrets");
const workroot = process.env.NIGHTDESK_WORKROOT ?? join(root, "workroot");

/** What docker-compose.yml mounts. Run again, it changes nothing: the password is kept in the database's volume, too. */
await runScript(() => {
  for (const source of ["corpus", "scratch"]) {
    mkdirSync(join(workroot, "allowed", source), { recursive: true });
  }
  if (existsSync(join(secrets, "database_url"))) {
    process.stderr.write(`${secrets} is there, and stays as it is.\n`);
    return 0;
  }
  writeSecrets(randomBytes(24).toString("hex"));
  process.stderr.write(
    `Wrote ${secrets}. Put documents into ${join(workroot, "allowed", "corpus")}, then run: docker compose up --detach --wait\n`,
  );
  return 0;
});

function writeSecrets(password) {
  // The folder keeps other users out; the files are mounted one by one, and each container's own user must read them.
  mkdirSync(secrets, { recursive: true, mode: 0o700 });
  writeFileSync(join(secrets, ".gitignore"), "*\n");
  writeFileSync(join(secrets, "postgres_password"), password, { mode: 0o644 });
  writeFileSync(
    join(secrets, "database_url"),
    `postgres://nightdesk:${password}@postgres:5432/nightdesk`,
    { mode: 0o644 },
  );
}
