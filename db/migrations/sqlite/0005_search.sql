-- Each serves a search within one status: by category, and by the beginning of a name.
CREATE INDEX pets_by_category ON pets (status, category_id);
CREATE INDEX pets_by_name ON pets (status, lower("name"), "id" DESC);
