"""The published study (Marx, Zhao, Neiswanger, Ermon, ICML 2022): its design and its numbers, run again.

Everything that is about this one paper is here; what runs and reads any study is one folder up.
"""
