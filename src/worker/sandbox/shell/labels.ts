/** A warning for the person who approves. A label decides nothing, because a command can be spelled in many ways. */
export type RiskLabel =
  "out_of_root" | "network" | "writes" | "deletes" | "credentials" | "privilege" | "project_code";

const PATTERNS: readonly (readonly [RiskLabel, RegExp])[] = [
  [
    "network",
    /(?<![\w.-])(curl|wget|nc|ncat|netcat|socat|ssh|scp|sftp|rsync|ftp|telnet|ping|dig|nslookup|host|openssl s_client)\b|\/dev\/(tcp|udp)\/|https?:\/\/|\bgit +(clone|fetch|pull|push|ls-remote|remote)\b|\b(npm|pip3?|yarn|pnpm|gem|cargo|go|apt(-get)?) +(i|install|add|get|update|ci)\b/i,
  ],
  [
    "writes",
    /(?<![0-9&<=-])>{1,2}(?! *(\/dev\/null|&))|\b(tee|dd|cp|mv|ln|touch|mkdir|install|truncate|patch|chmod|chown|chgrp|tar|unzip|split|csplit|mkfifo|mknod)\b|\bsed +-[a-z]*i|--(output|in-place|out)\b|\s-o\b|-fprint|\bgit +(add|commit|checkout|reset|merge|rebase|apply|stash|init|config|tag|branch|switch|restore)\b/i,
  ],
  [
    "deletes",
    /\b(rm|rmdir|unlink|shred|wipe|mkfs\w*)\b|-delete\b|\bgit +(clean|rm)\b|--remove-source-files|\btruncate\b|\b(unlink|remove|rmtree|rmSync)\b *\(/i,
  ],
  [
    "credentials",
    /\.env\b|\.ssh\b|\.aws\b|\.gnupg\b|\.netrc\b|\.pgpass\b|id_(rsa|dsa|ecdsa|ed25519)|credential|secret|passw(or)?d|passwd|shadow|token|api[_-]?key|\.pem\b|\.key\b|\bprintenv\b|\/environ\b|\bexport +-p\b/i,
  ],
  [
    "privilege",
    /(?<![\w./-])(sudo|su|doas|pkexec|runuser|setcap|chroot|unshare|nsenter|mount|umount|usermod|visudo)\b|\bchmod +(-\S+ +)*([ug]*\+[rwx]*s|[2467]\d{3}\b)|\bchown +(-\S+ +)*root\b/i,
  ],
  [
    "project_code",
    /(?<![\w./-])(make|cmake|ninja|gradlew?|mvn|ant|rake|tox|pytest|jest|npx)(?![\w.-])|\b(npm|yarn|pnpm|bun|cargo|go|deno|dotnet|bundle) +(run|test|start|build|exec|install|ci|generate)\b|(^|[;&|(]) *\.{1,2}\/\S|(?<![\w./-])(ba|z|da|k)?sh +[^-\s]|(?<![\w./-])(source|python[\d.]*|node|ruby|perl|php|Rscript|lua) +[^-\s]\S*|(^|[;&|(]) *\. +\S/i,
  ],
  ["out_of_root", /(^|[\s='"(:])(~|\.\.(\/|$|\s)|\/(?!(input|scratch|tmp)\b|dev\/null\b)[a-z])/i],
];

/** The labels of a command, even of one that can't be parsed. Pure, linear in the text. */
export const labelCommand = (text: string): readonly RiskLabel[] =>
  PATTERNS.flatMap(([label, pattern]) => (pattern.test(text) ? [label] : []));
