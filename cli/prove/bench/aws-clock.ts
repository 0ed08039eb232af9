/** AWS's time, from the `Date` header of a client's answers: times of AWS are subtracted from no other clock. */
import type { ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { InputError } from '../../shared/cli-environment.ts';

const answer = z.object({ headers: z.object({ date: z.string() }) });

/** The time of the latest answer, in whole seconds, not rounded up. Throws InputError before the first one. */
export function awsClock(client: ECSClient): () => EpochMs {
  let latest: number | undefined;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const date = Date.parse(answer.safeParse(result.response).data?.headers.date ?? '');
      if (!Number.isNaN(date)) latest = date;
      return result;
    },
    { step: 'deserialize' },
  );
  return () => {
    if (latest !== undefined) return latest as EpochMs;
    throw new InputError('the answers of ECS have no date');
  };
}
