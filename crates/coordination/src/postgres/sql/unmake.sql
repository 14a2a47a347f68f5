-- unmake: takes away what another release made here, with all it holds (LoseCoordinationState), so that this one can make
-- its own. Functions go with the types that they take and give.
DROP TABLE IF EXISTS {schema}.pool, {schema}.queue_window, {schema}.entry, {schema}.reservation, {schema}.ended,
  {schema}.lease, {schema}.notice, {schema}.unaccounted, {schema}.gone, {schema}.worker CASCADE;
DROP TYPE IF EXISTS {schema}.step CASCADE;
