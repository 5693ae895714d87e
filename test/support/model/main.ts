import { parseArgs } from 'node:util';
import { createModelDouble } from './create-model-double.ts';

/**
 * The model double as a process of its own: `node test/support/model/main.ts --port 0`. Prints one line of JSON,
 * `{baseUrl, model, control}`, once it listens; ends on SIGTERM or SIGINT. Behaviour and journal are reached under
 * `control`: `GET|DELETE <control>/journal`, `POST <control>/behaviour` (see behaviour.ts).
 */
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const double = await createModelDouble({ port: Number(values.port) });
const control = double.baseUrl.replace(/\/v1$/, '/control');
console.log(JSON.stringify({ baseUrl: double.baseUrl, model: double.model, control }));
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void double.close().then(() => process.exit(0)));
}
