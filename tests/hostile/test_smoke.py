import time
from tests.hostile.scene import *
def test_x(scene):
    for words in (["goal","status","greet"],["goal","list"],["goal","history"],["goal","inspect"],["goal","evaluate","greet"],["goal","evaluate","greet","--dry-run"],["goal","confirm","greet","--proposal",scene.proposal_id],["evidence","record","--run-id","r1","--evidence-file","evidence.yaml","--raw-output","raw.txt"],["evidence","list"],["evidence","show","evidence-ac1-eval-1"],["verdict","record","--run-id","r1","--verdict-file","verdict.json"],["verdict","show"],["journal","record","--issue","7","--type","x-y"],["journal","show"],["trust","record","greet","--yes"],["trust","check"],["trust","list"],["trust","revoke","greet"],["config","list"],["doctor"],["doctor","--fix"],["init"]):
        t=time.time()
        d=scene.flow(*words); check(d,words)
        print(words, d.status, round(d.cpu,3), round(time.time()-t,3), d.text[:100] if d.status else '')
        t=time.time(); scene.restore(); r=time.time()-t
    print('restore',r)
    for n,w in (("flow-goal-record",["--update-lifecycle","--goal-id","greet","--lifecycle-file","lifecycle.yaml"]),("flow-active-goal",[]),("journal-record",["--issue","7","--type","t"]),("flow-goal-trust",["check"])):
        t=time.time(); d=scene.helper(n,*w); check(d,w); print(n,d.status,round(time.time()-t,3),d.text[:100]); scene.restore()
