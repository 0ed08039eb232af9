/**
 * The text on one line, without characters that change a terminal. Reasons of ECS may have been
 * given by a person, and errors of builds quote Terraform.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
