import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { redact } from './redact.ts';

export type Logger = PinoLogger;

/**
 * JSON lines on standard error (standard output belongs to commands). Every line passes through the
 * redaction of secrets, whatever key it stands under. `secrets`: values known at start, hidden literally.
 */
export function createLog(options: {
  level: string;
  secrets: readonly string[];
  destination?: DestinationStream;
}): Logger {
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true });
  return pino(
    { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => destination.write(redact(line, options.secrets)) },
  );
}
