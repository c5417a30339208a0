-- Divides the tables of pbmserv among the nodes of a Citus cluster (docs/operating/distributed.md).
--
-- Run it once, with the server stopped, on the coordinator, on a database of this version:
--     psql --set ON_ERROR_STOP=1 --single-transaction --file distribute.sql pbmserv
-- Each unique key of a divided table must contain the column that says which node has a row.

-- What no database of several nodes can check: references to rows of other nodes.
ALTER TABLE ladder_games DROP CONSTRAINT IF EXISTS fk_ladder_games_board_id;
ALTER TABLE rating_changes DROP CONSTRAINT IF EXISTS fk_rating_changes_board_id;
ALTER TABLE player_boards DROP CONSTRAINT IF EXISTS fk_player_boards_board_id;
ALTER TABLE house_turns DROP CONSTRAINT IF EXISTS fk_house_turns_board_id;
ALTER TABLE analyses DROP CONSTRAINT IF EXISTS fk_analyses_board_id;

ALTER TABLE arrivals DROP CONSTRAINT pk_arrivals, ADD CONSTRAINT pk_arrivals PRIMARY KEY (id, share);
ALTER TABLE inbox DROP CONSTRAINT pk_inbox, ADD CONSTRAINT pk_inbox PRIMARY KEY (id, share);
ALTER TABLE outbox DROP CONSTRAINT pk_outbox, ADD CONSTRAINT pk_outbox PRIMARY KEY (id, share);
ALTER TABLE house_turns
    DROP CONSTRAINT pk_house_turns, ADD CONSTRAINT pk_house_turns PRIMARY KEY (board_id, share);
ALTER TABLE analyses
    DROP CONSTRAINT pk_analyses,
    ADD CONSTRAINT pk_analyses PRIMARY KEY (board_id, ply, seat, share);
DROP INDEX IF EXISTS uq_inbox_digest_recipient;
CREATE UNIQUE INDEX uq_inbox_digest_recipient ON inbox (digest, recipient, share);

-- People and rare things: a copy on each node.
SELECT create_reference_table(name::regclass) FROM unnest(ARRAY[
    'players', 'keys', 'stores', 'heartbeats', 'outages', 'settled', 'bounces', 'wrong_passwords',
    'password_sources', 'audit', 'announcements', 'blocked_senders', 'closed_games', 'game_pauses', 'game_stops',
    'blocks', 'blocked_mailboxes', 'absences', 'notices', 'address_changes', 'addresses', 'signups',
    'invitations', 'uninvited', 'reported_sources', 'unconfirmed_boards', 'seeks', 'ratings', 'rating_changes',
    'daily_readers', 'daily_tries', 'shared_boxes', 'shared_boards', 'hot_seats', 'events', 'entries',
    'pairings', 'regulars', 'event_bars', 'ladders', 'ladder_places', 'ladder_games', 'ladder_moves',
    'ladder_reigns', 'teams', 'team_members'
]) AS name;

-- Boards, and what belongs to a board: a board is on one node.
SELECT create_distributed_table('boards', 'id');
SELECT create_distributed_table(name::regclass, 'board_id', colocate_with => 'boards')
FROM unnest(ARRAY[
    'seats', 'plies', 'submitted_moves', 'followers', 'scores', 'awaited_analyses'
]) AS name;

-- The boards of a player are on one node.
SELECT create_distributed_table('player_boards', 'player_id', colocate_with => 'none');

-- The queues: each share is on one node.
SELECT create_distributed_table('outbox', 'share');
SELECT create_distributed_table(name::regclass, 'share', colocate_with => 'outbox')
FROM unnest(ARRAY['arrivals', 'inbox', 'house_turns', 'analyses']) AS name;
