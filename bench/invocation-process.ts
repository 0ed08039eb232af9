/** A process with nothing but the bundled function in it: `node invocation-process.ts BUNDLE TICKS`. */
import { pathToFileURL } from 'node:url';

export type InvocationFigures = {
  readonly ticksMs: readonly number[];
  readonly peakRssMib: number;
};

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const [bundle = '', ticks = '1'] = process.argv.slice(2);
/** What the stack gives the function. */
const TIMEOUT_MS = 55_000;

const { handler }: { readonly handler: Handler } = await import(pathToFileURL(bundle).href);
const ticksMs: number[] = [];
for (let index = 0; index < Number(ticks); index++) {
  const startedAt = performance.now();
  await handler(
    { tick: true },
    {
      functionName: 'bench',
      awsRequestId: `bench-${index}`,
      getRemainingTimeInMillis: () => startedAt + TIMEOUT_MS - performance.now(),
    },
  );
  ticksMs.push(performance.now() - startedAt);
}
const figures: InvocationFigures = { ticksMs, peakRssMib: process.resourceUsage().maxRSS / 1024 };
process.send?.(figures, () => process.exit(0));
