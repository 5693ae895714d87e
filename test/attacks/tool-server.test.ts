import { checkFamily } from './check-family.ts';
import { toolServer } from './families/tool-server.ts';

checkFamily(toolServer);
