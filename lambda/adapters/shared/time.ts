import * as z from 'zod';
import type { EpochMs } from '../../decision/model/brands.ts';

const NO_TIME = 'expected an RFC 3339 time';

/** A time as coderd (RFC 3339), the AWS SDK (Date) or a snapshot writes it; encodes to RFC 3339, UTC. */
export const time = z.codec(
  z.union([z.iso.datetime({ offset: true, error: NO_TIME }), z.date({ error: NO_TIME })], { error: NO_TIME }),
  z.number() as unknown as z.ZodType<EpochMs, EpochMs>,
  {
    decode: (value) => new Date(value).getTime() as EpochMs,
    encode: (value) => new Date(value).toISOString(),
  },
);
