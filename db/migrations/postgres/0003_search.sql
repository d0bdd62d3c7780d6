-- Each serves a search within one status: by category, and by the beginning of a name, the newest of equal names first.
CREATE INDEX pets_by_category ON pets (status, category_id, id);
CREATE INDEX pets_by_name ON pets (status, lower("name" COLLATE "C"), (- "id"));
