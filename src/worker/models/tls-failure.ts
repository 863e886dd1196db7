/** Codes of OpenSSL for a certificate chain that ends at no trusted certificate. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "INVALID_CA",
]);

/** Codes of Node and OpenSSL for a host that does not answer with TLS, or with no version that Node accepts. */
const NO_TLS: ReadonlySet<string> = new Set(["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"]);

type Certified = {
  readonly baseUrl: string;
  /** For a host that `hosts` lists: its name there. */
  readonly entry?: string;
};

/** Two sentences. */
type TlsFailure = { readonly message: string; readonly remedy: string };

/**
 * Explains why a TLS connection failed, and what to do; null for a code that is not about certificates or TLS.
 * @param code the code of the connection's error
 */
export function tlsFailure(code: string, { baseUrl, entry }: Certified): TlsFailure | null {
  const of = (what: string, remedy: string): TlsFailure => ({
    message: `The certificate of ${baseUrl} ${what} (${code}).`,
    remedy,
  });
  if (UNTRUSTED.has(code)) {
    return of(
      "is signed by nobody who is trusted here",
      entry === undefined
        ? "List the host in hosts, with the certificate of who signed it as ca_file."
        : `Name the certificate of who signed it in ca_file of hosts: ${entry}.`,
    );
  }
  if (NO_TLS.has(code)) {
    return {
      message: `${baseUrl} does not answer with TLS (${code}).`,
      remedy:
        "Write its URL with http:// where that port has none, and look at which versions it takes where it has.",
    };
  }
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return of("has expired", "Renew it there, or set the clock of this machine.");
    case "CERT_NOT_YET_VALID":
      return of("is not valid yet", "Set the clock of this machine, or that of who made it.");
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return of(
        "is for other names",
        "Write its URL with a name that the certificate has, or have one made for this name.",
      );
    default:
      return null;
  }
}
