import { channel } from 'node:diagnostics_channel';

export const OUTPUT_CHANNEL = 'coder-provisioner-autoscaler:test-output';

/** A text that a person or a machine gets, and how it got out. */
export type Output = { readonly where: string; readonly text: string };

const outputs = channel(OUTPUT_CHANNEL);

/** Hands in a text that is neither printed nor written to a file, such as the output of a command. */
export function handIn(output: Output): void {
  outputs.publish(output);
}
