/** The configuration in parameters of Systems Manager; lambda/config/stored-config.ts has its form. */
import { GetParametersCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { batchesOf } from '../../decision/model/collections.ts';
import { messageOf } from '../../decision/model/message-of.ts';

/** GetParameters accepts ten names. */
const NAMES_A_CALL = 10;

export class ParameterError extends Error {
  override readonly name = 'ParameterError';
}

/** The texts of the parameters in the order of the names, joined. Throws ParameterError. */
export async function readParameters(client: SSMClient, names: readonly string[]): Promise<string> {
  const batches = batchesOf(names, NAMES_A_CALL).map((batch) => readSome(client, batch));
  const values = new Map((await Promise.all(batches)).flat());
  const missing = names.filter((name) => !values.has(name));
  if (missing.length > 0)
    throw new ParameterError(
      `reading the configuration: SSM parameter ${missing.join(', ')} does not exist; create it again with its value in the template (docs/terraform.md)`,
    );
  return names.map((name) => values.get(name)).join('');
}

async function readSome(
  client: SSMClient,
  names: readonly string[],
): Promise<readonly (readonly [name: string, value: string])[]> {
  try {
    const { Parameters = [] } = await client.send(new GetParametersCommand({ Names: [...names] }));
    return Parameters.map(({ Name = '', Value = '' }) => [Name, Value] as const);
  } catch (cause) {
    throw new ParameterError(
      `reading the configuration: SSM parameters ${names.join(', ')}: ${messageOf(cause)}; check that the function's role may call ssm:GetParameters on them and that the function can reach Systems Manager`,
      { cause },
    );
  }
}
