"""Writes the documents on standard input, a JSON list of {url, title, body}, into a new full-text database."""
import json
import sqlite3
import sys
from contextlib import closing

documents = json.load(sys.stdin)
with closing(sqlite3.connect(sys.argv[1])) as database, database:
    database.execute("DROP TABLE IF EXISTS docs")
    database.execute("CREATE VIRTUAL TABLE docs USING fts5(url UNINDEXED, title, body, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO docs VALUES (:url, :title, :body)", documents)
