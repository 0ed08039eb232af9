import { watch } from '../../../cli/watch/command.ts';
import type { WatchServer } from '../../../cli/watch/server.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

type Opened = {
  /** That of a person (`environmentOf`). This process gets it: it calls no real AWS. */
  readonly environment: Readonly<Record<string, string>>;
  readonly now: () => EpochMs;
  /** Milliseconds between two looks: more often than on AWS, as nothing else uses this coderd. */
  readonly everyMs: number;
};

/** The page of `autoscaler watch` for a simulated deployment, on any free port. */
export function openPage({ environment, now, everyMs }: Opened): Promise<WatchServer> {
  Object.assign(process.env, environment);
  const config = environment.AUTOSCALER_CONFIG ?? '';
  return watch({ config, port: 0 }, { environment, now, out: () => {}, err: () => {} }, everyMs);
}
