import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runScript } from "./phase.js";
import { root } from "./root.js";

const FILES = ["Dockerfile", "docker-compose.yml", ".devcontainer/docker-compose.yml"];
/** An image that somebody else makes: its name with a tag, and its digest where it is pinned. */
const IMAGE =
  /^(?<before>FROM |[ \t]+image: )(?<tagged>[\w./-]+:[\w.-]+)(?:@(?<digest>sha256:[0-9a-f]{64}))?(?=\s)/gm;
const OURS = "nightdesk:";
const USAGE = "usage: node scripts/pin-images.js [--check] [--folder FOLDER]\n";

/**
 * Pins the images of the deployment to the digest that their tag has now, so that what was tried is what is pulled; run
 * again, it moves them to what their tags have then. Docker asks the registries, with its own proxies and passwords.
 */
await runScript(() => {
  const options = readOptions();
  if (options === null) {
    process.stderr.write(USAGE);
    return 2;
  }
  const files = FILES.map((name) => join(options.folder, name)).map((path) => ({
    path,
    text: readFileSync(path, "utf8"),
  }));
  const images = files.flatMap(({ text }) => imagesIn(text));
  return options.check
    ? check(images)
    : pin(files, [...new Set(images.map(({ tagged }) => tagged))]);
});

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { check: { type: "boolean" }, folder: { type: "string", default: root } },
    });
    return { check: values.check === true, folder: resolve(values.folder) };
  } catch {
    return null;
  }
}

function imagesIn(text) {
  return [...text.matchAll(IMAGE)]
    .map(({ groups }) => groups)
    .filter(({ tagged }) => !tagged.startsWith(OURS));
}

function check(images) {
  const open = new Set(
    images.filter(({ digest }) => digest === undefined).map(({ tagged }) => tagged),
  );
  for (const name of open) process.stdout.write(`${name} has no digest\n`);
  if (open.size > 0) process.stderr.write("Pin them: node scripts/pin-images.js\n");
  return open.size === 0 ? 0 : 1;
}

/** All digests are known before the first file is written. */
function pin(files, names) {
  const digests = new Map(names.map((name) => [name, digestOf(name)]));
  for (const { path, text } of files) {
    const pinned = text.replaceAll(IMAGE, (whole, ...rest) => {
      const { before, tagged } = rest.at(-1);
      const digest = digests.get(tagged);
      return digest === undefined ? whole : `${before}${tagged}@${digest}`;
    });
    if (pinned !== text) writeFileSync(path, pinned);
  }
  for (const [name, digest] of digests) process.stdout.write(`${name}@${digest}\n`);
  return 0;
}

function digestOf(name) {
  const args = ["buildx", "imagetools", "inspect", name, "--format", "{{.Manifest.Digest}}"];
  const digest = askDocker(name, args).trim();
  if (/^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
  throw new Error(`docker gave no digest of ${name}, but ${JSON.stringify(digest.slice(0, 80))}.`);
}

function askDocker(name, args) {
  try {
    return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const said = String(error.stderr ?? error).trim();
    const [reason] = error.code === "ENOENT" ? ["docker is not on the PATH"] : said.split("\n");
    throw new Error(
      `The digest of ${name} can't be asked for: ${reason}. Run this where docker with buildx reaches the registry; nothing was written.`,
    );
  }
}
